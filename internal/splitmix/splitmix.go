// Package splitmix hashes numbers by SplitMix64: Steele, Lea and Flood, Fast splittable
// pseudorandom number generators, OOPSLA 2014.
package splitmix

import "hash/fnv"

// Mix returns the generator's output from state x. It is a bijection of 64-bit numbers.
func Mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Hash is a bijection of x for every seed. Mixing the seed first prevents the sequences of neighbouring seeds from
// overlapping.
func Hash(seed, x uint64) uint64 { return Mix(Mix(seed) + x) }

// HashName hashes the name of a column (FNV-1a), so that random choices do not depend on the order of the columns.
func HashName(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}
