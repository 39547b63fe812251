//go:build !amd64

package main

func fused(int)     {}
func fusedWide(int) {}
