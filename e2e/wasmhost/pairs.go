package wasmhost

import "encoding/binary"

// The most that Envoy reads of a serialised header map.
const (
	maxPairs      = 1024
	maxPairsBytes = 1 << 20
)

// encodePairs serialises a header map: the number of pairs, the two lengths of
// each, then names and values, each with a zero byte behind it. An empty map is
// no bytes at all.
func encodePairs(h headers) []byte {
	if len(h) == 0 {
		return nil
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(h)))
	for _, header := range h {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header[0])))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header[1])))
	}
	for _, header := range h {
		b = append(append(b, header[0]...), 0)
		b = append(append(b, header[1]...), 0)
	}
	return b
}

// decodePairs reads a serialised header map, names in lower case. Like Envoy it
// takes what is malformed in any way as a map without headers.
func decodePairs(b []byte) headers {
	if len(b) < 4 || len(b) > maxPairsBytes {
		return nil
	}
	count, sizes := binary.LittleEndian.Uint32(b), b[4:]
	if count > maxPairs || len(sizes) < int(count)*8 {
		return nil
	}
	texts := sizes[count*8:]
	var pairs [][2]string
	for ; count > 0; count, sizes = count-1, sizes[8:] {
		var pair [2]string
		for i := range pair {
			size := uint64(binary.LittleEndian.Uint32(sizes[4*i:]))
			if size >= uint64(len(texts)) || texts[size] != 0 {
				return nil
			}
			pair[i], texts = string(texts[:size]), texts[size+1:]
		}
		pairs = append(pairs, pair)
	}
	if len(texts) > 0 {
		return nil
	}
	return lowered(pairs)
}
