package kernel

import (
	"fmt"
	"os"
	"strings"
)

// PathVariable is the environment variable that forces an instruction set, by its
// name in [Paths]: for tests and comparisons.
const PathVariable = "UFS_STREAM_KERNEL"

// isa is the code for one instruction set.
type isa struct {
	name string
	f64  micro[float64]
	f32  micro[float32]
}

// paths are the instruction sets of this machine, the best first; the last is Go.
var paths = append(machinePaths(), &goPath)

// best is the path that teams take, and forceErr why the variable could not be followed.
var best, forceErr = choose(os.Getenv(PathVariable))

func choose(name string) (*isa, error) {
	if name == "" {
		return paths[0], nil
	}
	for _, p := range paths {
		if p.name == name {
			return p, nil
		}
	}
	return paths[0], fmt.Errorf("%s=%s: this machine and build have %s", PathVariable, name, strings.Join(Paths(), ", "))
}

// Path is the name of the instruction set in use, with an error if [PathVariable]
// asks for one that is not there.
func Path() (string, error) { return best.name, forceErr }

// Paths are the names of the instruction sets that this machine and build have.
func Paths() []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.name
	}
	return names
}
