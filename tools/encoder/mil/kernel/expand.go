package kernel

import (
	"math/bits"
	"unsafe"
)

// ExpandBytes copies values of two bytes each, in order, to those places of dst that a bit of set is one for, lowest bits first,
// and zeros to the others, as far as wide registers go. It returns how many values of dst it wrote, and how many of src it took.
func ExpandBytes(dst, src, set []byte) (done, taken int) {
	groups := min(len(dst)/32, len(set)/2)
	if !useWide || groups == 0 || len(src) < 32 {
		return 0, 0
	}
	groups = expandWide((*uint16)(unsafe.Pointer(&dst[0])), (*uint16)(unsafe.Pointer(&src[0])), &set[0], groups, len(src)/2)
	for _, b := range set[:2*groups] {
		taken += bits.OnesCount8(b)
	}
	return 16 * groups, taken
}
