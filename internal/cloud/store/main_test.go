package store

import (
	"os"
	"os/exec"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// runAgain runs the running test alone in a process of its own, and returns its output.
func runAgain(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), must.Get(os.Executable())(t), "-test.run=^"+t.Name()+"$")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the test by itself ends with %v: %s", err, out)
	}
	return string(out)
}
