package ufs

// ProgramBytes is what a limit keeps free for everything that is not planned.
const ProgramBytes = programBytes
