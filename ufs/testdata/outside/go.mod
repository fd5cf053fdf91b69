module example.com/outside

go 1.26.0

// The test completes this with what the module above requires.
require github.com/ufs-stream/ufs-stream v0.0.0

replace github.com/ufs-stream/ufs-stream => ../../..
