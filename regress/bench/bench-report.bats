#!/usr/bin/env bats
# Needs: hayate stock figures timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The page of figures (bench/report.py), from lines that are made up here: none
# of the numbers was measured. Then in a browser, where there is one.

load ../helper

setup_file() {
	export PAGE=$BATS_FILE_TMPDIR/page.html LINES_=$BATS_FILE_TMPDIR/made.tsv
	export REPORT=$REGRESS/bench/report.py
	have_gnuplot || return 0
	print_all_cells >"$LINES_"
	"$REPORT" -o "$PAGE" "$LINES_"
}

setup() {
	export TMPDIR=$BATS_TEST_TMPDIR
	have_gnuplot || [[ $BATS_TEST_DESCRIPTION = *'one line'* ]] ||
	    skip 'no gnuplot, which is in the package gnuplot-nox'
}

have_gnuplot() { command -v gnuplot >/dev/null; }

COLUMNS_='date commit builds version libcrypto kernel cpu cores loadavg place cc
	rtt_ms rate loss tcp_max cipher window streams load cell program mode
	direction bytes run seconds login login_near login_far cpu_near cpu_far
	kib ms status target procs'

print_header() {
	# shellcheck disable=SC2086
	(set -- $COLUMNS_; IFS=$'\t'; echo "$*")
}

# print_row CELL PROGRAM MODE DIRECTION BYTES SECONDS [COLUMN=VALUE...]: prints a run
print_row() {
	local c text=''
	declare -A v=([date]=2026-01-02T03:04:05+0000 [commit]=abcdef1
	    [builds]='stock: cc -O2; hayate: cc -O2' [version]="$2 1.0"
	    [libcrypto]='OpenSSL 9' [kernel]=6.66 [cpu]='Some CPU' [cores]=2
	    [loadavg]=0.5 [place]=path [cc]=cubic [rtt_ms]=100 [rate]=1gbit [loss]=0
	    [cipher]=aes128-gcm@openssh.com [streams]=1 [cell]="$1"
	    [program]="$2" [mode]="$3" [direction]="$4" [bytes]="$5"
	    [seconds]="$6" [run]=1 [status]=0)
	for c in "${@:7}"; do v[${c%%=*}]=${c#*=}; done
	for c in $COLUMNS_; do
		text+=${text:+$'\t'}${v[$c]:--}
	done
	echo "$text"
}

# Of all cells the smallest that has each of their figures
print_all_cells() {
	print_header
	for program in stock hayate; do
		print_path_rows
		print_plain_rows
		print_self_rows
		print_matrix_rows
		print_ftp_rows
		print_files_rows
		print_cross_rows
		print_sessions_rows
	done
	print_row path iperf3 iperf3 get 1000000000 9 login=-
	print_sealing_rows
	for p in ftp-pure-ftpd lftp-pure-ftpd lftp-ssl-vsftpd; do
		print_row ftp $p '100.0 MB' get 100000000 0.5 place=loopback rate=- \
		    version="$p 1.0 with other@x"
	done
	print_row nonsense hayate something get 1000000 2
}

# A million packets of 32 KiB: 40 us for each, 10 of them not for crypto. On two
# cores they are 26, and 6 more of crypto: so 6 of the 52 of both are handover.
print_sealing_rows() {
	local p at=(place=processor rate=- rtt_ms=- cc=-)
	for p in aes128-gcm aes128-gmac; do
		print_row seal "$p" 'open 32K' - 1000000000 0.5 "${at[@]}"
	done
	while read -r p seconds crypto; do
		print_row threads "$p" 'seal 32K aes128-gcm' - 32768000000 "$seconds" \
		    "${at[@]}" procs=crypto_s="$crypto"
	done <<-EOT
	off 39 0
	1-core 40 30
	2-cores 26 36
	EOT
	print_row threads off 'seal 32K chacha20' - 32768000000 40 "${at[@]}"
}

# Login takes 1 s of each: hayate is at 80, 100 and 105.3 MB/s, stock at 20.
print_path_rows() {
	local s target=- times='51 51 51'
	if [ $program = hayate ]; then
		times='11 10.5 13.5' target='rate>=0.95*iperf3,rate>=1*stock~'
	fi
	for s in $times; do
		print_row path $program 'ssh cat' get 1000000000 "$s" login=1 \
		    login_near=0.5 login_far=0.25 cpu_near=2 cpu_far=3 \
		    target="$target" procs='ssh:1:1:0.5:9:9:2:0.42:0:0.42 cores=1.0'
	done
}

print_plain_rows() {
	local c
	for c in path512 sender stripe connections forward loopback slow; do
		print_row $c $program scp put 1000000000 7
	done
	print_row memory $program 'peak, fast' get 1000000000 9 kib=8000
	print_row idle $program 'idle ssh' - 0 - kib=1400
	print_row echo $program 'echo, 95 %' get 1000000 9 ms=70
}

print_self_rows() {
	local n
	for n in 1 4; do
		print_row self $program scp get 1000000000 $((4 - n / 2)) streams=$n \
		    place=loopback rate=- rtt_ms=0 \
		    procs='ssh:1:1:0.5:9:9:2:0.97:0:0.97 @sshd-session:1:1:0.5:9:9:2:0.55:0:0.55 cores=1.5'
	done
}

# Each of the two lies within the range of the other
print_matrix_rows() {
	local w s
	for w in 64K 1M unlimited; do
		for s in 1 2; do
			print_row matrix $program 'ssh cat' get 10000000 $s window=$w
		done
	done
	print_row matrix $program 'ssh cat' get 10000000 1 window=unlimited rtt_ms=8
	print_row matrix $program 'ssh cat' get 10000000 1 window=unlimited loss=0.1%
	print_row matrix $program 'ssh cat' get 10000000 9 window=unlimited rate=100mbit
}

print_ftp_rows() {
	print_row ftp $program '100.0 MB' get 100000000 2 place=loopback rate=-
}

print_files_rows() {
	local rtt
	for rtt in 0.16 22; do
		for tool in 'scp -r' rsync; do
			print_row files $program "$tool, 1000 x 3" put 3000 2 \
			    rtt_ms=$rtt ms=2.5 procs='rsync version 9'
		done
	done
}

print_cross_rows() {
	local load
	for load in 0% 90%; do
		for mode in 'scp, unmarked' 'scp, af41'; do
			print_row cross $program "$mode" put 10000000 2 load=$load
		done
	done
}

print_sessions_rows() {
	local n
	for n in 10 100; do
		print_row sessions $program 'idle ssh' - 0 - streams=$n kib=1500
		print_row sessions $program 'one more login' - 0 - streams=$n ms=200
	done
	print_row sessions $program 'busy ssh' get 0 - streams=10 kib=9000
}

# read_page: a line for each thing on the page that the tests ask about; fails
# on an element that is not closed
read_page() {
	python3 - "${1:-$PAGE}" <<-'EOT'
	import sys
	from html.parser import HTMLParser

	class Page(HTMLParser):
	    def __init__(self):
	        super().__init__()
	        self.open, self.text, self.svg = [], "", 0
	    def handle_starttag(self, tag, attrs):
	        at = dict(attrs)
	        if tag not in ("meta", "br"):
	            self.open.append(tag)
	        if tag in ("section", "script", "link", "img", "iframe", "object"):
	            print(tag, at.get("id", ""))
	        for name in ("href", "src", "xlink:href"):
	            if name in at:
	                print("refers", at[name])
	        self.svg += tag == "svg"
	        if tag in ("p", "tr", "li", "figcaption", "caption"):
	            self.text = ""
	    def handle_startendtag(self, tag, attrs):
	        self.handle_starttag(tag, attrs)
	        if tag not in ("meta", "br"):
	            self.open.pop()
	    def handle_endtag(self, tag):
	        if self.open.pop() != tag:
	            sys.exit("not closed: " + tag)
	        if tag in ("td", "th"):
	            self.text += "|"
	        if tag in ("p", "tr", "li", "figcaption", "caption"):
	            print(tag, " ".join(self.text.split()))
	        if tag == "figure":
	            print("figure", self.svg)
	            self.svg = 0
	    def handle_data(self, data):
	        self.text += data

	page = Page()
	page.feed(open(sys.argv[1], encoding="utf-8").read())
	page.close()
	if page.open:
	    sys.exit("not closed: %s" % page.open)
	EOT
}

# print_section CELL: prints its lines of read_page
print_section() { read_page | awk -v c="$1" '/^section /{ on = $2 == c } on'; }

@test "every cell has a section, and every figure is an SVG with its conditions" {
	run -0 read_page
	local cell figures=0
	for cell in path path512 sender stripe connections forward loopback slow self seal threads \
	    matrix ftp files cross sessions memory idle echo nonsense data; do
		[[ $output = *"section $cell"$'\n'* ]]
		[ $cell = data ] || print_section $cell | grep -q '^figure 1$'
	done
	figures=$(grep -c '^figure' <<<"$output")
	[ "$(grep -c '^figure 1$' <<<"$output")" = "$figures" ]
	[ "$(grep -c '^p Conditions: date 2026-01-02 .*kernel 6.66.*Some CPU.*cores 2' \
	    <<<"$output")" -ge "$figures" ]
	print_section matrix | grep -c '^figure 1$' | grep -qx 4
}

@test "a table row equals values computed by hand, with range and CPU" {
	run -0 print_section path
	[[ $output = *'|hayate|3|1000|100.0|80.0..105.3|MB/s|11.00|1.50+2.75|5.00|0.90|'* ]]
	[[ $output = *'|rate>=0.95*iperf3: missed by 5.3 %, rate>=1*stock~: met|'* ]]
	[[ $output = *'|stock|3|1000|20.0|20.0..20.0|MB/s|51.00|'* ]]
}

@test "a caption says whether the rate includes the login" {
	grep -q '<figcaption>Rate over a path of 100 ms.*(without login; ' "$PAGE"
	sed -n '/id="cross"/,/<\/section>/p' "$PAGE" |
	    grep -q '<figcaption>Rate .*(login included; '
}

@test "published figures are shown beside measured ones with their source" {
	run -0 print_section ftp
	[[ $output = *'scp, stock|scp <- sshd|41.5|0.38|50.0|0.25|'* ]]
	[[ $output = *'ftp-pure-ftpd|ftp <- pure-ftpd|110.0|1.00|200.0|1.00|'* ]]
	[[ $output = *'SENAC, 2009'* ]]
	grep -q '<li>ftp-pure-ftpd ran with other@x[.]' "$PAGE"
	run ! grep '<li>stock ran with' "$PAGE"
	run -0 print_section self
	[[ $output = *'|220|MiB/s|230.7|'*'RIKEN'* ]]
	grep -q 'published: K computer, 1 scp' "$PAGE"
}

@test "the table of published figures has no empty field" {
	awk -F'\t' 'NR == 1 { n = NF } NF != n || /\t\t|\t$/ { print; bad = 1 }
	    END { exit bad || NR < 20 }' "$REGRESS/bench/published.tsv"
}

@test "the page has no script and loads nothing from outside" {
	run -0 read_page
	run ! grep -E '^(script|link|img|iframe|object) |^refers [^#]' <<<"$output"
	run ! grep -iE 'https?:|@import|url\(|<script|javascript:' "$PAGE"
	python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' \
	    "$PAGE"
	# A mark that is referred to exists, and once.
	[ -z "$(grep -oE "[ <](id|name)=['\"][^'\"]*" "$PAGE" | sort | uniq -d)" ]
	for mark in $(grep -oE "href='#[^']*" "$PAGE" | sort -u); do
		grep -qF "id='${mark#*#}'" "$PAGE"
	done
}

@test "programs differ in their marks and not only in colour" {
	# colour and mark of each program
	local first
	first=$(sed -n '/<figure>/,/<\/figure>/p; /<\/figure>/q' "$PAGE" |
	    sed -n "s/.*href='#fig1-\(gpPt[0-9]*\)'.*class='\(open \)*\(c[0-9]\)'.*/\3 \1/p" |
	    sort -u)
	[ "$(cut -d' ' -f1 <<<"$first" | sort -u | wc -l)" = 3 ]
	[ "$(cut -d' ' -f2 <<<"$first" | sort -u | wc -l)" = 3 ]
}

@test "a void comparison is marked with a ring and named in its row" {
	run -0 print_section matrix
	[[ $output = *'|1.00 void|'* ]]
	sed -n '/id="matrix"/,/<\/section>/p' "$PAGE" | grep -q 'ring: void'
	run -0 print_section path
	[[ $output != *void* ]]
	run ! grep -q 'ring: void' <(sed -n '/id="path"/,/<\/section>/p' "$PAGE")
}

@test "a figure names the bottleneck below it if it is known" {
	run -0 print_section self
	[[ $output = *'What limits '*'the CPU time of ssh: 97 % of a core'* ]]
	[[ $output = *'|hayate|far sshd-session|55|'* ]]
	run -0 print_section sender
	[[ $output != *'What limits'* ]]
	# A ninth of 22 ms is 2.5; 5 s of CPU time in 3 s are 1.7 cores.
	run -0 print_section cross
	[[ $output = *'What limits '*'the link'*' it has 125.0 MB/s left'* ]]
	run -0 print_section files
	[[ $output = *'What limits '*'round trips'*': 0.1 of them for each file'* ]]
	local d=$BATS_TEST_TMPDIR
	{ print_header
	    print_row slow hayate scp put 1000000000 3 cpu_near=2 cpu_far=3
	    print_row slow stock scp put 1000000000 3 cpu_near=1 cpu_far=2
	} >"$d/busy.tsv"
	"$REPORT" -o "$d/page" "$d/busy.tsv"
	run -0 read_page "$d/page"
	[[ $output = *"What limits hayate: the machine's cores: 1.7 of 2 busy"* ]]
	[[ $output != *'What limits stock'* ]]
}

@test "the predicted gain of more cores is drawn with its limit and the reason" {
	run -0 python3 "$REGRESS/bench/model.py" --selftest
	[ "${#lines[@]}" -ge 5 ]
	sed -n '/id="threads"/,/<\/section>/p' "$PAGE" >"$BATS_TEST_TMPDIR/section"
	grep -q 'model: aes128-gcm' "$BATS_TEST_TMPDIR/section"
	grep -q 'measured: aes128-gcm' "$BATS_TEST_TMPDIR/section"
	grep -qF 'aes128-gcm: a packet takes 30.0 us of crypto and 10.0 us of its owner; handing it over and waiting cost 6.0 us, and on two cores crypto takes 1.20 times as long. More than 4 cores bring nothing' \
	    "$BATS_TEST_TMPDIR/section"
	grep -q 'at 2048 MB/s' "$BATS_TEST_TMPDIR/section"
	grep -q 'chacha20: no prediction' "$BATS_TEST_TMPDIR/section"
}

@test "a window diagram marks the bandwidth-delay product" {
	# 1 Gbit/s * 100 ms / 8 = 12.5 MB
	sed -n '/id="matrix"/,/<\/section>/p' "$PAGE" | grep -q 'BDP 11.9 MiB'
}

@test "the newest sitting counts unless it was interrupted" {
	local d=$BATS_TEST_TMPDIR
	{ print_header; print_row path stock scp get 1000000000 50 date=2026-01-01
	    print_row path hayate scp get 1000000000 40 date=2026-01-01
	    print_row idle hayate 'idle ssh' - 0 - kib=1111 date=2026-01-01
	} >"$d/old.tsv"
	{ print_header; print_row idle hayate 'idle ssh' - 0 - kib=2222 date=2026-01-05
	    print_row path stock scp get 1000000000 20 date=2026-01-05
	} >"$d/new.tsv"
	"$REPORT" -o "$d/page" "$d/old.tsv" "$d/new.tsv"
	run -0 read_page "$d/page"
	[[ $output = *'|2222|'* && $output != *'|1111|'* ]]
	[[ $output = *'|25.0|'* && $output != *'|50.0|'* ]]
	print_row path hayate scp get 1000000000 10 date=2026-01-05 >>"$d/new.tsv"
	"$REPORT" -o "$d/page" "$d/old.tsv" "$d/new.tsv"
	run -0 read_page "$d/page"
	[[ $output = *'|100.0|'* && $output != *'|25.0|'* ]]
}

# print_rows_at MS...: prints a copy by each program at these RTTs, slower at each further
# one
print_rows_at() {
	local rtt p n=0
	print_header
	for rtt in "$@"; do
		((++n))
		print_row path512 iperf3 iperf3 get 1000000000 $((4 * n)) \
		    rtt_ms="$rtt"
		for p in stock:50 hpn:10 hayate:5; do
			print_row path512 "${p%:*}" scp get 1000000000 \
			    $((${p#*:} * n)) rtt_ms="$rtt"
		done
	done
}

@test "the figure of README names each line at its end, with its last value" {
	local d=$BATS_TEST_TMPDIR
	print_rows_at 0.25 8 200 >"$d/rtts.tsv"
	"$REPORT" -o "$d/page" "$d/rtts.tsv"
	python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' \
	    "$d/rtt.svg"
	run -0 sed -n 's/.*<text[^>]*> *\(.*\)<\/text>.*/\1/p' "$d/rtt.svg"
	for text in 'OpenSSH 7' 'HPN-SSH 33' 'Hayate 67' 'iperf3 83' \
	    0.25 8 200 'scp of 954 MiB over 1 Gbit/s'; do
		grep -qxF "$text" <<<"$output"
	done
	grep -qi "<rect x=\"0\" y=\"0\".* fill=\"#ffffff\"" "$d/rtt.svg"
	# Two points are no curve.
	rm "$d/rtt.svg"
	print_rows_at 8 200 >"$d/rtts.tsv"
	"$REPORT" -o "$d/page" "$d/rtts.tsv"
	[ ! -e "$d/rtt.svg" ]
}

@test "a truncated line is not counted" {
	local d=$BATS_TEST_TMPDIR
	{ print_header
	    print_row path hayate scp get 1000000000 10
	    print_row path hayate scp get 1000000000 20 loadavg=0.9
	    print_row path hayate scp get 1000000000 5 | cut -f1-35
	} >"$d/cut.tsv"
	"$REPORT" -o "$d/page" "$d/cut.tsv"
	# One row: the load of the machine is no condition.
	run -0 read_page "$d/page"
	[[ $output = *'|hayate|2|1000|75.0|50.0..100.0|'* ]]
	[[ $output = *'load average 0.5 to 0.9'* ]]
}

@test "a file with other columns is named and skipped" {
	local d=$BATS_TEST_TMPDIR
	{ print_header; print_row path hayate scp get 1000000000 10; } >"$d/good.tsv"
	sed '1s/\tload\t/\tother\t/' "$d/good.tsv" >"$d/other.tsv"
	run -0 --separate-stderr "$REPORT" -o "$d/page" "$d/other.tsv" "$d/good.tsv"
	[[ $stderr = "report: left out $d/other.tsv: no column load: "* ]]
	run -0 read_page "$d/page"
	[[ $output = *'good.tsv|'* && $output != *'other.tsv'* ]]
	run -1 --separate-stderr "$REPORT" -o "$d/page" "$d/other.tsv"
	[[ ${stderr_lines[1]} = 'report: no measurements in '*'/other.tsv: run make bench first' ]]
	run -1 python3 "$REGRESS/bench/stats.py" table "$d/other.tsv"
	[ "$output" = "stats: ${stderr_lines[0]#report: left out }" ]
}

@test "without gnuplot or measurements one line says what to do" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" \
	    "$BATS_TEST_TMPDIR/bin/python3"
	ln -s "$(command -v env)" "$BATS_TEST_TMPDIR/bin"
	print_all_cells >"$BATS_TEST_TMPDIR/made.tsv"
	PATH=$BATS_TEST_TMPDIR/bin run -1 env "$REPORT" \
	    -o "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/made.tsv"
	[ "$output" = 'report: no gnuplot: it is in the package gnuplot-nox' ]
	HAYATE_BUILD=$BATS_TEST_TMPDIR run -1 "$REPORT"
	[ "${#lines[@]}" = 1 ]
	[[ $output = *'run make bench first'* ]]
	[ ! -e "$BATS_TEST_TMPDIR/page" ]
}

### In a browser

# open_page FILE OPTION...: opens FILE; its messages are in $BATS_TEST_TMPDIR/console
open_page() {
	timeout 120 chromium --headless --no-sandbox --disable-gpu \
	    --disable-dev-shm-usage --no-first-run --hide-scrollbars \
	    --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1100,1400 \
	    --user-data-dir="$BATS_TEST_TMPDIR/chromium" \
	    --enable-logging=stderr --v=0 "${@:2}" "file://$1" \
	    2>"$BATS_TEST_TMPDIR/log" 3>&- || {
		tail -n 3 "$BATS_TEST_TMPDIR/log"
		return 1
	}
	grep ':CONSOLE' "$BATS_TEST_TMPDIR/log" >"$BATS_TEST_TMPDIR/console" || :
}

need_chromium() {
	command -v chromium >/dev/null ||
	    skip 'no browser: chromium, in the package chromium'
}

# What the browser has made of the page, in one line; "out" are texts that are
# cut off by the edge of their figure, "wide" is a page that scrolls sideways.
print_probe() {
	sed '/<\/body>/d; s/<\/html>//' "$1"
	cat <<-'EOT'
	<script>
	let shown = 0, out = 0
	for (const f of document.querySelectorAll("figure")) {
		const svg = f.querySelector("svg"), box = svg.getBoundingClientRect()
		if (box.width > 100 && box.height > 50) shown++
		for (const t of svg.querySelectorAll("text")) {
			const b = t.getBoundingClientRect()
			if (b.left < box.left - 1 || b.right > box.right + 1 ||
			    b.top < box.top - 1 || b.bottom > box.bottom + 1) {
				out++
				console.log("out " + t.textContent)
			}
		}
	}
	const e = document.documentElement
	console.log("probe shown " + shown + " out " + out + " wide " +
	    (e.scrollWidth > e.clientWidth))
	</script></body></html>
	EOT
}

@test "a browser shows every figure without a warning" {
	need_chromium
	local figures
	open_page "$PAGE" --dump-dom >"$BATS_TEST_TMPDIR/dom"
	cat "$BATS_TEST_TMPDIR/console"
	[ ! -s "$BATS_TEST_TMPDIR/console" ]
	figures=$(grep -c '<figure>' "$PAGE")
	[ "$(grep -c '<figure>' "$BATS_TEST_TMPDIR/dom")" = "$figures" ]
	print_probe "$PAGE" >"$BATS_TEST_TMPDIR/probe.html"
	open_page "$BATS_TEST_TMPDIR/probe.html" --dump-dom >/dev/null
	cat "$BATS_TEST_TMPDIR/console"
	grep -q "\"probe shown $figures out 0 wide false\"" \
	    "$BATS_TEST_TMPDIR/console"
}

# count_distinct PNG: prints how many different values its pixels' bytes have
count_distinct() {
	python3 - "$1" <<-'EOT'
	import struct, sys, zlib
	data, at, parts = open(sys.argv[1], "rb").read(), 8, b""
	while at < len(data):
	    size, kind = struct.unpack(">I4s", data[at:at + 8])
	    if kind == b"IDAT":
	        parts += data[at + 8:at + 8 + size]
	    at += size + 12
	print(len(set(zlib.decompress(parts))))
	EOT
}

@test "a screenshot of the page is not blank" {
	need_chromium
	open_page "$PAGE" --screenshot="$BATS_TEST_TMPDIR/page.png"
	[ "$(count_distinct "$BATS_TEST_TMPDIR/page.png")" -gt 50 ]
}
