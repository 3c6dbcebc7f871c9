# awt: every path from register to register within one clock
create_clock -name clk -period 10.000 [get_ports clk_i]
set_input_delay -clock clk 2.000 [get_ports {rst_ni trigger_valid_i trigger_warp_i trigger_high_i trigger_sr_i trigger_end_i trigger_mask_i trigger_live_in_i trigger_live_out_i kill_high_i kill_low_i kill_warp_i high_room_i low_room_i}]
set_output_delay -clock clk 2.000 [all_outputs]
# rst_ni falls at any time; a synchronizer of this clock releases it, so recovery and removal are timed
set_false_path -fall_from [get_ports rst_ni]
