;; The refuse floor: the least that a module which limits by key and refuses can
;; do. For each request it reads a header, reads the clock, and answers 429. It
;; looks nothing up.
(module
  (import "env" "proxy_get_header_map_value"
    (func $get_header (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_send_local_response"
    (func $reply (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get"
    (func $clock (param i32 i64 i32) (result i32)))

  (memory (export "memory") 2)
  (data (i32.const 0) "x-key")
  ;; 16: header (pointer, size)   40: clock
  (data (i32.const 64) "local_rate_limited")
  ;; One header, as the ABI serialises a map: retry-after: 1
  (data (i32.const 128) "\01\00\00\00\0b\00\00\00\01\00\00\00retry-after\001\00")
  (global $free (mut i32) (i32.const 1024))

  (func (export "proxy_abi_version_0_2_0"))

  (func (export "malloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $free))
    (global.set $free (i32.and (i32.add (i32.add (local.get $at) (local.get $size)) (i32.const 7)) (i32.const -8)))
    (local.get $at))

  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (global.set $free (i32.const 1024))
    (drop (call $get_header (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 20)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 40)))
    (drop (call $reply (i32.const 429)
      (i32.const 64) (i32.const 18) (i32.const 64) (i32.const 18)
      (i32.const 128) (i32.const 26) (i32.const -1)))
    (i32.const 1)))
