package resume

// busyError is of a folder that another run has locked.
type busyError struct{ by string }

func (e *busyError) Error() string { return "another run" + e.by + " has the lock" }
