package main

import (
	"fmt"
	"strings"
)

// Piece is what travels from step to step: the name of a part file, or of a merged one. A piece
// that can never be made travels as well: then Failed says why. As an error of its step it would
// make the runner scan the shard again, four times on Dataflow, before it gives up.
type Piece struct {
	Number int // of the shard, or of the group
	Name   string

	Code   int      // exit code of the first of Failed; 0: the file is there
	Failed []string // what is wrong, and where: the first few
	More   int      // how many more failed
}

// maxFaultsShown is how many shards' faults a job tells in full: where one is wrong for all, a few
// say it.
const maxFaultsShown = 5

// takeFaults takes over the faults of a piece, if it has any.
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

// faultLine tells what failed, in one line.
func (p *Piece) faultLine() string {
	text := joinTexts(p.Failed)
	if p.More > 0 {
		text += fmt.Sprintf("; and %d more shards failed", p.More)
	}
	return text
}

func joinTexts(texts []string) string { return strings.Join(texts, "; ") }
