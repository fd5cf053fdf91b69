//go:build !unix

package testtool

import "os"

// lockFile does not wait: several processes may install the same program, and the first one
// renames it into place.
func lockFile(*os.File) error { return nil }
