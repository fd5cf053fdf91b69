package stream

import (
	"fmt"
	"strings"
)

// Part identifies the shards of a plan file that statistics cover. Statistics scanned without a plan file have no Part.
type Part struct {
	Plan   string        `json:"plan"`            // ID of the plan file
	Of     int           `json:"of"`              // total number of shards
	Shards []ShardRange  `json:"shards"`          // ascending; consecutive shards form one range
	Round  string        `json:"round,omitempty"` // digest of the profile with which the shards were scanned; empty without a profile
	Whole  *WholeOfParts `json:"whole,omitempty"` // the totals of all shards
}

// WholeOfParts holds the totals of all shards of a plan.
type WholeOfParts struct {
	Files int   `json:"files"`
	Rows  int64 `json:"rows"`
}

// ShardRange contains the shards From to To, both included, counted from 1.
type ShardRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Check validates a decoded Part: its shards must be distinct, in order and between 1 and Of.
func (p *Part) Check() error {
	last := 0
	for _, r := range p.Shards {
		if r.From <= last || r.To < r.From || r.To > p.Of {
			return fmt.Errorf("shards %s of %d of a plan cannot be", ShardList(p.Shards), p.Of)
		}
		last = r.To
	}
	if last == 0 {
		return fmt.Errorf("no shard of %d of a plan", p.Of)
	}
	return nil
}

// Complete reports whether all shards are present.
func (p *Part) Complete() bool {
	return len(p.Shards) == 1 && p.Shards[0] == ShardRange{1, p.Of}
}

// Count returns the number of present shards.
func (p *Part) Count() (n int) {
	for _, r := range p.Shards {
		n += r.To - r.From + 1
	}
	return n
}

// Missing lists the absent shards.
func (p *Part) Missing() []ShardRange {
	var missing []ShardRange
	next := 1
	for _, r := range p.Shards {
		if next < r.From {
			missing = append(missing, ShardRange{next, r.From - 1})
		}
		next = r.To + 1
	}
	if next <= p.Of {
		missing = append(missing, ShardRange{next, p.Of})
	}
	return missing
}

// String formats the range as "3" or "3-7".
func (r ShardRange) String() string {
	if r.From == r.To {
		return fmt.Sprint(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

// ShardList formats ranges as "1, 3-7", and abbreviates long lists.
func ShardList(ranges []ShardRange) string {
	const mostListed = 8
	var list []string
	for i, r := range ranges {
		if i == mostListed {
			list = append(list, "…")
			break
		}
		list = append(list, r.String())
	}
	return strings.Join(list, ", ")
}
