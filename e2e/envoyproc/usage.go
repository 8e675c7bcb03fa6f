package envoyproc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// fieldRSS is the number of the field in proc_pid_stat(5).
const fieldRSS = 24

// CPU returns the CPU time, user and system, that all threads of Envoy have used
// since it started, to the nanosecond. Linux only.
func (p *Process) CPU() (time.Duration, error) {
	// The clock of another process, as clock_getcpuclockid(3) makes its id.
	const schedulerClock = 2
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^p.PID()<<3|schedulerClock), &used); err != nil {
		return 0, fmt.Errorf("envoy's cpu time: %w", err)
	}
	return time.Duration(used.Nano()), nil
}

// RSS returns Envoy's memory in RAM, in bytes. The kernel counts lazily: expect
// it to be off by some hundred kilobytes. Linux only.
func (p *Process) RSS() (int64, error) {
	s, err := readStat(p.PID(), fieldRSS)
	if err != nil {
		return 0, err
	}
	return s[0] * int64(os.Getpagesize()), nil
}

// readStat returns the given fields of /proc/<pid>/stat.
func readStat(pid int, fields ...int) ([]int64, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	line, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("envoy's resource usage: %w", err)
	}
	values, err := parseStat(line, fields...)
	if err != nil {
		return nil, fmt.Errorf("envoy's resource usage: %q: %w", path, err)
	}
	return values, nil
}

// parseStat returns the given fields of a stat line, each from 3 up: field 2 is
// the name of the program in parentheses, which may contain spaces and
// parentheses itself, so that counting starts after the last one.
func parseStat(line []byte, fields ...int) ([]int64, error) {
	rest := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	var values []int64
	for _, f := range fields {
		if f-3 >= len(rest) {
			return nil, fmt.Errorf("no field %d in %q", f, line)
		}
		n, err := strconv.ParseInt(string(rest[f-3]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", f, err)
		}
		values = append(values, n)
	}
	return values, nil
}
