// Package splitmix hashes numbers by SplitMix64: Steele, Lea and Flood, Fast splittable
// pseudorandom number generators, OOPSLA 2014.
package splitmix

import "hash/fnv"

// Mix returns the number that the generator SplitMix64 outputs in state x. Different x give different results.
func Mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Hash hashes x with a seed. For a given seed, different x give different results. The seed is mixed first, so that the
// sequences of neighbouring seeds do not overlap.
func Hash(seed, x uint64) uint64 { return Mix(Mix(seed) + x) }

// HashName hashes the name of a column (FNV-1a), so that random choices do not depend on the order of the columns.
func HashName(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}
