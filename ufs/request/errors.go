package request

// Interrupted is the error of a run that was interrupted after it had saved its progress, or of Apply or Convert if
// they reached their memory limit after such a save.
type Interrupted struct {
	Checkpoint string // the folder
	Err        error
}

func (e *Interrupted) Error() string { return e.Err.Error() }

func (e *Interrupted) Unwrap() error { return e.Err }
