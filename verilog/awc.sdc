# awc: every path from register to register within one clock
create_clock -name clk -period 10.000 [get_ports clk_i]
set_input_delay -clock clk 2.000 [get_ports {rst_ni load_i load_address_i load_data_i map_write_i map_event_i map_enable_i map_high_i map_sr_i map_end_i trigger_valid_i trigger_event_i trigger_warp_i trigger_mask_i trigger_live_in_i trigger_live_out_i kill_high_i kill_low_i kill_warp_i busy_i idle_i issue0_index_i issue0_pop_i issue1_index_i issue1_pop_i low_pop_i}]
set_output_delay -clock clk 2.000 [all_outputs]
# rst_ni falls at any time; a synchronizer of this clock releases it, so recovery and removal are timed
set_false_path -fall_from [get_ports rst_ni]
