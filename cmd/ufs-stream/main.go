// Command ufs-stream selects features from files that are too big for memory. It reads the files once, stores small
// statistics of them, and ranks the features by these statistics.
//
// Each verb has a file in this folder. The file declares the flags of the verb (shared flags are in flags.go), calls
// package ufs for the computation, and prints the result. The flags for method options come from the declarations of
// the methods.
package main

import "github.com/ufs-stream/ufs-stream/internal/program"

func main() { program.Main(run) }
