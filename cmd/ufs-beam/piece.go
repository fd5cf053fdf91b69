package main

import (
	"fmt"
	"strings"
)

// Piece travels from step to step: the name of a part file, or of a merged file. A piece that can never be made
// travels too, with the reason in Failed. As an error of its step it would make the runner scan the shard again, four
// times on Dataflow, before the job fails.
type Piece struct {
	Number int // of the shard, or of the group
	Name   string

	Code   int      // exit code of the first of Failed; 0 if the file exists
	Failed []string // the first few faults, with their places
	More   int      // number of further faults
}

// maxFaultsShown bounds the faults that a job reports in full: if one cause affects all shards, a few suffice.
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
