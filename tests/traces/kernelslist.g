MemcpyHtoD,0x00007f2ed4a00000,1000
MemcpyHtoD,0x00007f2ed4a00400,1000
kernel-1.traceg
kernel-2.traceg.xz
