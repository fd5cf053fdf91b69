package paper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
)

// finishedRun is a file of the folder of --resume: the output and the cost of a command that has ended.
type finishedRun[T any] struct {
	Command string
	Cost    workshop.Cost
	Output  T
}

// runOnce returns the output and the cost of a verb of ufs-stream. It calls run only if the folder has no file of the
// same command, by the same program, on an input of the same size and time. The first of args is the input.
func runOnce[T any](ctx context.Context, o *options, w *workshop.Workshop, verb string, args []string, run func(*T) (workshop.Cost, error)) (*T, workshop.Cost, error) {
	input, err := os.Stat(args[0])
	if err != nil {
		return nil, workshop.Cost{}, err
	}
	command := verb + " " + strings.Join(args, " ")
	key := hashText(fmt.Sprint(o.program, command, input.Size(), input.ModTime().UnixNano()))
	path := keptPath(o, w, verb+"-"+key+".json")
	done := new(finishedRun[T])
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, done) == nil {
		return &done.Output, done.Cost, nil
	}
	done.Command = command
	if done.Cost, err = run(&done.Output); err != nil {
		return nil, done.Cost, err
	}
	text, err := json.Marshal(done)
	if err != nil {
		return nil, done.Cost, err
	}
	return &done.Output, done.Cost, results.WriteFile(ctx, path, nil, text)
}

// writeSelection writes a selection to a file that is named by its features. So equal commands read equal selections.
func writeSelection(ctx context.Context, o *options, w *workshop.Workshop, sel *stream.Selection) (string, error) {
	var names []string
	for _, f := range sel.Selected {
		names = append(names, f.Name)
	}
	path := keptPath(o, w, "selection-"+hashText(fmt.Sprintf("%q", names))+".json")
	var text bytes.Buffer
	if err := sel.Encode(&text); err != nil {
		return "", err
	}
	return path, results.WriteFile(ctx, path, nil, text.Bytes())
}

func keptPath(o *options, w *workshop.Workshop, name string) string {
	if o.resume == "" {
		return w.Path(name)
	}
	return filepath.Join(o.resume, name)
}

func hashText(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:20] }
