# awb: every path from register to register within one clock
create_clock -name clk -period 10.000 [get_ports clk_i]
set_input_delay -clock clk 2.000 [remove_from_collection [all_inputs] [get_ports clk_i]]
set_output_delay -clock clk 2.000 [all_outputs]
set_false_path -from [get_ports rst_ni]
