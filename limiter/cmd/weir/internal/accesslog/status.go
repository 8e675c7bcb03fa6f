package accesslog

import "strconv"

// noStatus is the status of a record that has none.
const noStatus = 1000

// statuses are the texts of all status codes; that of noStatus is empty. A
// status of 0 is that of a request which was given up before it had any.
var statuses = func() (all [noStatus + 1]string) {
	for code := range noStatus {
		all[code] = strconv.Itoa(code)
	}
	return all
}()

// parseStatus reads a status code, as proxies write it; noStatus if it is none.
func parseStatus(value []byte) uint16 {
	if len(value) != 3 && string(value) != "0" {
		return noStatus
	}
	code := uint16(0)
	for _, c := range value {
		if c -= '0'; c > 9 {
			return noStatus
		}
		code = code*10 + uint16(c)
	}
	return code
}
