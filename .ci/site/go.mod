// The renderer of the documentation, pinned apart from the program's own dependencies.
module github.com/ufs-stream/ufs-stream/ci/site

go 1.26.0

toolchain go1.26.11

require github.com/yuin/goldmark v1.8.7
