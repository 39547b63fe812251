package main

// fused runs n rounds of twelve fused multiply-adds of eight values, fusedWide n rounds of 24 of sixteen.
func fused(n int)
func fusedWide(n int)
