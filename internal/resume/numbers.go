package resume

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
)

// Numbers saves slices of float64, bit by bit, as states of a Run. It implements [stream.Checkpoint].
type Numbers struct{ run *Run }

// NewNumbers returns the Numbers of a Run.
func NewNumbers(r *Run) Numbers { return Numbers{r} }

const numbersSection = "numbers"

func asStageValues(numbers [][]float64) stageValues {
	list := stageValues{}
	for _, x := range numbers {
		list = append(list, x)
	}
	return list
}

// Due implements stream.Checkpoint: it reports whether it is time to save.
func (n Numbers) Due() bool { return n.run.Due() }

// Drop implements stream.Checkpoint: it removes the state called name.
func (n Numbers) Drop(name string) error { return n.run.Drop(name) }

// Save implements stream.Checkpoint: it replaces the state called name by the numbers and their marks.
func (n Numbers) Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	return n.run.Save(ctx, name, marks, chunkio.Section{Name: numbersSection, Body: asStageValues(numbers)})
}

// Append implements stream.Checkpoint: it adds the numbers as a state that is never replaced.
func (n Numbers) Append(_ context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	return n.run.appendStateWithValues(name, marks, asStageValues(numbers))
}

// Load implements stream.Checkpoint: it reads the state called name into numbers, and returns its marks.
func (n Numbers) Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error) {
	s, err := n.run.Load(ctx, name)
	if s == nil || err != nil {
		return nil, false, err
	}
	defer s.Close()
	if err := s.Read(numbersSection, asStageValues(numbers)); err != nil {
		return nil, false, err
	}
	return s.Marks, true, nil
}
