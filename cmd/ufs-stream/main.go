// Command ufs-stream selects features from files too big for memory: it reads them once, keeps small statistics, and
// ranks the features from those.
//
// Each verb has a file in this folder. It declares the verb's flags (flags.go has the shared flags), calls package ufs
// for the computation, and prints the result. The flags for method options come from the methods' declarations.
package main

import "github.com/ufs-stream/ufs-stream/internal/program"

func main() { program.Main(run) }
