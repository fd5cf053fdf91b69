package main

import (
	"fmt"
	"strings"
)

// Piece is passed from step to step. It contains the name of a part file or of a merged file. If the file cannot be
// made, the piece contains the reason in Failed. If the step returned an error instead, the runner would repeat it
// (Dataflow four times) before the job fails.
type Piece struct {
	Number int // number of the shard or of the group whose file this is
	Name   string

	Code   int      // exit code of the first fault; 0 if the file exists
	Failed []string // the first few faults, each with its shard
	More   int      // number of other faults
}

// maxFaultsShown is the largest number of faults that a job reports in full. If all shards have the same fault, a few
// are enough.
const maxFaultsShown = 5

func (p *Piece) takeFaults(o Piece) {
	if o.Code == 0 {
		return
	}
	if p.Code == 0 {
		p.Code = o.Code
	}
	p.More += o.More
	for _, text := range o.Failed {
		if len(p.Failed) < maxFaultsShown {
			p.Failed = append(p.Failed, text)
		} else {
			p.More++
		}
	}
}

func (p *Piece) faultLine() string {
	text := joinTexts(p.Failed)
	if p.More > 0 {
		text += fmt.Sprintf("; and %d more shards failed", p.More)
	}
	return text
}

func joinTexts(texts []string) string { return strings.Join(texts, "; ") }
