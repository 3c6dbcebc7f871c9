# The reference: from the numbers of a square, one in a line, 20 steps of the Jacobi method in double precision.
{ now[NR - 1] = $1 }
END {
    n = int(sqrt(NR) + 0.5)
    for (i = 0; i < NR; i++) then[i] = now[i]
    for (step = 0; step < 20; step++) {
        for (y = 1; y < n - 1; y++)
            for (x = 1; x < n - 1; x++) {
                i = y * n + x
                then[i] = 0.5 * now[i] + 0.125 * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n])
            }
        for (i = 0; i < NR; i++) now[i] = then[i]
    }
    for (i = 0; i < NR; i++) printf "%.9g\n", now[i]
}
