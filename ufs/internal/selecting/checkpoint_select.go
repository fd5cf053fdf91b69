package selecting

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func addRecordedOptions(t *Trial, options map[string]string) {
	for option, value := range t.Selection.Options {
		options[option] = fmt.Sprint(value)
	}
	for option := range t.run.Choice.Options {
		options[option] = t.run.Choice.Options.Text(option)
	}
}

// selectionIdentity collects all settings that affect the bits of the method's intermediate results. Memory and threads
// are among them, because they determine how many features the method reads at a time.
func selectionIdentity(t *Trial, what string) (resume.Identity, error) {
	id := resume.Identity{What: what, Inputs: slices.Concat(t.bundle.Inputs, t.run.AnchorInputs), Columns: t.Columns, Options: map[string]string{
		"method": t.run.Bound.Name, "k": strconv.Itoa(t.K), "seed": strconv.FormatUint(t.Seed, 10), "threads": strconv.Itoa(t.Threads), stream.MemoryLimit: strconv.FormatInt(t.run.Limits.Memory, 10),
	}}
	addRecordedOptions(t, id.Options)
	path, _ := kernel.InstructionSet() // ApplyLimits has already reported an invalid environment variable
	id.Facts = map[string]string{"instruction set": path, "version": request.Release}
	return id, id.AddDigest("choice of features", struct {
		Index, Keep []int
		Choice      method.Choice
	}{t.Index, t.Keep, t.Choice})
}
