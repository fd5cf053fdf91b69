package resume

// busyError reports a folder that another run has locked.
type busyError struct{ holder string }

func (e *busyError) Error() string { return "another run" + e.holder + " has the lock" }
