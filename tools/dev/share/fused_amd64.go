package main

// fused runs n rounds of twelve fused multiply-adds of eight values.
func fused(n int)
