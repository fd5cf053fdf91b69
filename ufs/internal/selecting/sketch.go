package selecting

import (
	"github.com/ufs-stream/ufs-stream/gram"
)

// useSketch estimates the Gram matrix from the sketch, and puts it into the evidence for the method. The evidence
// includes the rows if the method may read them again.
func useSketch(t *Trial) error {
	m, err := t.bundle.Sketch.Finish(t.bundle.Profile, t.bundle.Columns, gram.FinishOptions{Scale: t.run.ParsedScale, Fill: t.Fill})
	if err != nil {
		return err
	}
	if t.Std, err = gram.NewStandardizer(t.bundle.Profile, t.bundle.Columns, t.run.ParsedScale, t.Fill); err != nil {
		return err
	}
	if t.bundle.TakesPart != nil {
		m.Keep(t.bundle.TakesPart)
		t.Std.Keep(t.bundle.TakesPart)
	}
	t.Gram, t.Reads = m, t.run.Choice.Reads
	if t.Reads > 1 {
		t.Source, t.Memory = t.bundle.Source, t.bundle.Plan.Solver
	}
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	return nil
}
