# md_cache: every path from register to register within one clock
create_clock -name clk -period 10.000 [get_ports clk_i]
set_input_delay -clock clk 2.000 [get_ports {rst_ni valid_i update_i line_i entry_i refill_ready_i fill_valid_i fill_data_i writeback_ready_i}]
set_output_delay -clock clk 2.000 [all_outputs]
# rst_ni falls at any time; a synchronizer of this clock releases it, so recovery and removal are timed
set_false_path -fall_from [get_ports rst_ni]
