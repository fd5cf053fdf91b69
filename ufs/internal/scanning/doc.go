// Package scanning gathers statistics into files, of the whole input or of a shard of it, and writes plans for many
// machines.
package scanning
