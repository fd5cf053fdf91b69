package ufs

import (
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// ProgramBytes is the memory that a limit keeps free for everything that is not planned.
const ProgramBytes = budget.ProgramBytes
