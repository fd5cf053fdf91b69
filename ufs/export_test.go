package ufs

// WithHeaderOf is m with a limit on the bytes of a header.
func (m MergeRequest) WithHeaderOf(most int) MergeRequest {
	m.maxHeader = most
	return m
}

// ProgramBytes is the memory that a limit keeps free for everything that is not planned.
const ProgramBytes = programBytes
