package kill

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
)

func (o *options) writeResults(ctx context.Context, out io.Writer, points []jobResult, host, version string) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Killed at random moments\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", o.command, host, version)
	fmt.Fprintf(&text, "- each run is killed (kill -9) at moments drawn evenly from the time that it takes alone, started again by the same\n"+
		"  command, and killed again, until it is done; a save every %s\n"+
		"- again for a kill: processor time of all processes beyond that of one run without a kill, divided by the kills, in runs\n"+
		"- wrong: an output that differs by a byte (timing aside), a part of one, a command that fails when started again, a file left\n", o.every)
	results.TableHead(&text, []string{"run", "alone s", "kills", "runs done", "again for a kill", "wrong"}, 1)
	faults := 0
	for _, p := range points {
		results.TableRow(&text, []string{p.name, results.FormatSeconds(p.aloneCost.Wall.Seconds()), fmt.Sprint(p.kills), fmt.Sprint(p.runs), fmt.Sprintf("%.2f", p.repeatedShare()), fmt.Sprint(len(p.faults))})
		faults += len(p.faults)
	}
	for _, p := range points {
		for _, f := range p.faults {
			fmt.Fprintf(&text, "\n- %s: %s", p.name, f)
		}
	}
	if faults > 0 {
		fmt.Fprintln(&text)
	}
	path := filepath.Join(o.folder, "kill.md")
	if err := results.WriteFile(ctx, path, nil, text.Bytes()); err != nil {
		return err
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("%d things were wrong; %s has them", faults, path)
	}
	return nil
}
