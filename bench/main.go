package main

import (
	"github.com/ufs-stream/ufs-stream/bench/internal/verbs"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
)

func main() { program.Main(verbs.RunProgram) }
