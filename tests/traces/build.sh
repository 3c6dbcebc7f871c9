#!/bin/sh
# Writes the traces of this folder: c = a + b of 250 numbers in 4 thread blocks of 64 threads, in Accel-Sim's format.
# Blocks 0 and 3 have their addresses as base and stride, block 1 as a list, block 2 as base and differences.
cd "$(dirname "$0")" || exit 1
kernel() {
    awk -v id="$1" '
    function hex(n) { return sprintf("0x00007f2ed4%06x", n) }
    # The addresses of lanes 0 to lanes - 1 of a warp, in the mode of its block.
    function addresses(base, block, lanes,   text, lane) {
        if (block == 1) {
            text = "4 0"
            for (lane = 0; lane < lanes; lane++) text = text " " hex(base + 4 * lane)
            return text
        }
        if (block == 2) {
            text = "4 2 " hex(base)
            for (lane = 1; lane < lanes; lane++) text = text " 4"
            return text
        }
        return "4 1 " hex(base) " 4"
    }
    BEGIN {
        print "-kernel name = vecadd"
        print "-kernel id = " id
        print "-grid dim = (4,1,1)"
        print "-block dim = (64,1,1)"
        print "-shmem = 0"
        print "-nregs = 16"
        print "-binary version = 70"
        print "-cuda stream id = 0"
        print "-shmem base_addr = 0x00007f2ed0000000"
        print "-local mem base_addr = 0x00007f2ece000000"
        print "-nvbit version = none"
        print "-accelsim tracer version = 3"
        print ""
        print "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]"
        print ""
        a = 10485760
        for (block = 0; block < 4; block++) {
            print "#BEGIN_TB"
            print ""
            print "thread block = " block ",0,0"
            for (warp = 0; warp < 2; warp++) {
                first = 64 * block + 32 * warp
                lanes = first + 32 <= 250 ? 32 : 250 - first
                rest = lanes == 32 ? "00000000" : "fc000000"
                mask = lanes == 32 ? "ffffffff" : "03ffffff"
                at = a + 4 * first
                print ""
                print "warp = " warp
                print "insts = 15"
                print "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0"
                print "0010 ffffffff 1 R6 S2R 0 0"
                print "0020 ffffffff 1 R3 S2R 0 0"
                print "0030 ffffffff 1 R6 IMAD 3 R6 R255 R3 0"
                print "0040 ffffffff 0 ISETP.GE.AND 2 R6 R255 0"
                print "0050 " rest " 0 EXIT 0 0"
                print "0060 " mask " 1 R7 IMAD.MOV.U32 2 R255 R255 0"
                print "0070 " mask " 1 R2 IMAD.WIDE 2 R6 R7 0"
                print "0080 " mask " 1 R4 IMAD.WIDE 2 R6 R7 0"
                print "0090 " mask " 1 R2 LDG.E.SYS 1 R2 " addresses(at, block, lanes)
                print "00a0 " mask " 1 R5 LDG.E.SYS 1 R4 " addresses(at + 1024, block, lanes)
                print "00b0 " mask " 1 R6 IMAD.WIDE 2 R6 R7 0"
                print "00c0 " mask " 1 R9 FADD 2 R2 R5 0"
                print "00d0 " mask " 0 STG.E.SYS 2 R6 R9 " addresses(at + 2048, block, lanes)
                print "00e0 " mask " 0 EXIT 0 0"
            }
            print ""
            print "#END_TB"
            print ""
        }
    }'
}
kernel 1 >kernel-1.traceg
kernel 2 | xz -9 >kernel-2.traceg.xz
cat >kernelslist.g <<'END'
MemcpyHtoD,0x00007f2ed4a00000,1000
MemcpyHtoD,0x00007f2ed4a00400,1000
kernel-1.traceg
kernel-2.traceg.xz
END
