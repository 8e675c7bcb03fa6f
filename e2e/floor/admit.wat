;; The admit floor: the least that a module which limits by key and admits can
;; do. For each request it reads a header, reads the clock, gets a value from the
;; shared data, sets it, and lets the request go on. It decides nothing.
(module
  (import "env" "proxy_get_header_map_value"
    (func $get_header (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_shared_data"
    (func $get_shared (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_shared_data"
    (func $set_shared (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get"
    (func $clock (param i32 i64 i32) (result i32)))

  (memory (export "memory") 2)
  (data (i32.const 0) "x-key")
  ;; 16: header (pointer, size)   24: value (pointer, size, cas)   40: clock
  (global $free (mut i32) (i32.const 1024))

  (func (export "proxy_abi_version_0_2_0"))

  ;; The host asks for memory for what it returns; each callback begins anew.
  (func (export "malloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $free))
    (global.set $free (i32.and (i32.add (i32.add (local.get $at) (local.get $size)) (i32.const 7)) (i32.const -8)))
    (local.get $at))

  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (global.set $free (i32.const 1024))
    (drop (call $get_header (i32.const 0) (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 20)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 40)))
    (i32.store (i32.const 32) (i32.const 0))
    (drop (call $get_shared (i32.load (i32.const 16)) (i32.load (i32.const 20)) (i32.const 24) (i32.const 28) (i32.const 32)))
    (drop (call $set_shared (i32.load (i32.const 16)) (i32.load (i32.const 20)) (i32.const 40) (i32.const 8) (i32.load (i32.const 32))))
    (i32.const 0)))
