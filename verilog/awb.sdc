# awb: every path from register to register within one clock
create_clock -name clk -period 10.000 [get_ports clk_i]
set_input_delay -clock clk 2.000 [get_ports {rst_ni stage_valid_i stage_warp_i stage_high_i stage_last_i stage_instruction_i stage_mask_i stage_live_in_i stage_live_out_i flush_high_i flush_low_i flush_warp_i issue0_index_i issue0_pop_i issue1_index_i issue1_pop_i low_pop_i}]
set_output_delay -clock clk 2.000 [all_outputs]
# rst_ni falls at any time; a synchronizer of this clock releases it, so recovery and removal are timed
set_false_path -fall_from [get_ports rst_ni]
