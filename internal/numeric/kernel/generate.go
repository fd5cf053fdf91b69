package kernel

//go:generate go -C _asm run . -set avx2 -pkg kernel -out ../avx2_amd64.s -stubs ../avx2_amd64.go
//go:generate go -C _asm run . -set avx512 -pkg kernel -out ../avx512_amd64.s -stubs ../avx512_amd64.go
