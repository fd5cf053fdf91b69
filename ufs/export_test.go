package ufs

// WithHeaderOf is m where at most so many bytes of a header are possible.
func (m MergeRequest) WithHeaderOf(most int) MergeRequest {
	m.maxHeader = most
	return m
}

// ProgramBytes is what a limit keeps free for everything that is not planned.
const ProgramBytes = programBytes
