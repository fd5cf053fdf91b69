package settled

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

const (
	// CheckpointSuffix ends the name of the automatic checkpoint's folder.
	CheckpointSuffix = ".checkpoint"
)

// checkpoint holds the folder in which all attempts (see Attempts) at a request save their progress.
type checkpoint struct{ Folder *resume.Folder }

// CheckpointFolder returns the folder that q names for its checkpoint, or the automatic one next to Output; or "".
func CheckpointFolder(q *request.Request) string {
	if q.Checkpoint.Folder != request.AutoCheckpoint {
		return request.NamedCheckpoint(q)
	}
	out := q.Output
	if out == "" || out == "-" || place.IsURL(out) || atomicfile.IsDevice(out) {
		return ""
	}
	local, err := place.LocalPath(out)
	if err != nil {
		return ""
	}
	return filepath.Clean(local) + CheckpointSuffix
}

// OpenCheckpoint opens the checkpoint that the request of r names, for r and for the later attempts.
func OpenCheckpoint(r *Run, later ...*Run) error {
	r.SavedState = new(checkpoint)
	for _, next := range later {
		next.SavedState = r.SavedState
	}
	path := request.NamedCheckpoint(&r.Request)
	if path == "" {
		return nil
	}
	if r.SkipBad {
		return stream.Usagef("{checkpoint} does not go with {on-error} skip-file: leaving out a file changes everything saved")
	}
	var err error
	r.SavedState.Folder, err = resume.Open(path, ResumeOptions(&r.Request, false))
	return err
}

// OpenAutoCheckpoint opens a checkpoint's folder that the user did not name. If it is unusable, a remark reports that, and
// the result is nil.
func OpenAutoCheckpoint(q *request.Request, path string) (*resume.Folder, error) {
	opt := ResumeOptions(q, true)
	folder, err := resume.Open(path, opt)
	if !errors.As(err, new(*stream.OutputError)) {
		return folder, err
	}
	if opt.Note != nil {
		opt.Note(stream.Textf("nothing is saved for an interruption: %v", err))
	}
	return nil, nil
}

func ResumeOptions(q *request.Request, isAutomatic bool) resume.Options {
	return resume.Options{Every: q.Checkpoint.Every, Implicit: isAutomatic, Note: q.Hooks.Say}
}

func (c *checkpoint) ResumeFolder() *resume.Folder {
	if c == nil {
		return nil
	}
	return c.Folder
}

// CloseFolder closes the folder and keeps it for a later run. err is the error of the run, or nil. If the run was
// interrupted and a later run can resume from the folder, CloseFolder turns err into an *Interrupted.
func (c *checkpoint) CloseFolder(ctx context.Context, err error) error {
	folder := c.ResumeFolder()
	if err != nil {
		if syncErr := folder.Sync(); syncErr != nil {
			err = errors.Join(err, syncErr)
		}
	}
	if err != nil && ctx.Err() != nil && folder.HoldsStates() {
		err = &request.Interrupted{Checkpoint: folder.Path(), Err: err}
	}
	if closeErr := folder.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	return err
}

// ForgetProgress implements ufs.Forget: it removes the checkpoint of a request's run.
func ForgetProgress(q request.Request) error {
	return resume.Forget(CheckpointFolder(&q), ResumeOptions(&q, q.Checkpoint.Folder == request.AutoCheckpoint))
}
