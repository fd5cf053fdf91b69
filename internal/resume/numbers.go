package resume

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
)

// Numbers stores slices of float64, bit by bit, in the states of a Run. It implements [stream.Checkpoint].
type Numbers struct{ run *Run }

// NewNumbers returns the Numbers of a Run.
func NewNumbers(r *Run) Numbers { return Numbers{r} }

const numbersSection = "numbers"

func listNumbers(numbers [][]float64) (list stageValues) {
	for _, x := range numbers {
		list = append(list, x)
	}
	return list
}

// Due implements stream.Checkpoint.
func (n Numbers) Due() bool { return n.run.Due() }

// Drop implements stream.Checkpoint.
func (n Numbers) Drop(name string) error { return n.run.Drop(name) }

// Save implements stream.Checkpoint.
func (n Numbers) Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	return n.run.Save(ctx, name, marks, chunkio.Section{Name: numbersSection, Body: listNumbers(numbers)})
}

// Append implements stream.Checkpoint.
func (n Numbers) Append(_ context.Context, name string, marks map[string]string, numbers ...[]float64) error {
	return n.run.AppendState(name, marks, chunkio.Section{Name: numbersSection, Body: listNumbers(numbers)})
}

// Load implements stream.Checkpoint.
func (n Numbers) Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error) {
	s, err := n.run.Load(ctx, name)
	if s == nil || err != nil {
		return nil, false, err
	}
	defer s.Close()
	if err := s.Read(numbersSection, listNumbers(numbers)); err != nil {
		return nil, false, err
	}
	return s.Marks, true, nil
}
