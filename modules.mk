# The module directories ("rooms"), lower ones first: a room may include headers
# of itself and of those before it. Makefiles, scripts and tests read this list.

HAYATE_ROOMS = common channels cipher transfer ssh sshd

# The files that Hayate adds to upstream's libssh.a, one per line.
#
# HAYATE_CORE   get bytes and times, return decisions; no upstream header
# HAYATE_HOOKS  called by the patches; include upstream headers

HAYATE_CORE = \
	common/stall-stats.c \
	common/hayopt.c \
	common/memlimit.c \
	common/peer.c \
	common/ring.c \
	common/bottleneck.c \
	channels/bdp.c \
	channels/bufgrow.c \
	channels/bufmap.c \
	channels/window-limited.c \
	channels/tcp-path.c \
	channels/usage.c \
	channels/wtune.c \
	cipher/autoscale.c \
	cipher/authonly.c \
	cipher/authonly-proposal.c \
	cipher/cores.c \
	cipher/kexguess.c \
	cipher/namelist.c \
	cipher/packetq.c \
	cipher/pool.c \
	transfer/ahead.c \
	transfer/apart.c \
	transfer/checks.c \
	transfer/flow.c \
	transfer/jobs.c \
	transfer/json.c \
	transfer/judge.c \
	transfer/landing.c \
	transfer/landings.c \
	transfer/lanes.c \
	transfer/left.c \
	transfer/lines.c \
	transfer/longopt.c \
	transfer/loss.c \
	transfer/meter.c \
	transfer/opening.c \
	transfer/pace.c \
	transfer/plan.c \
	transfer/ranges.c \
	transfer/replies.c \
	transfer/steps.c \
	transfer/tell.c \
	transfer/uneven.c \
	transfer/verify.c \
	transfer/wide.c \
	transfer/width.c \
	ssh/early.c \
	ssh/recall.c \
	sshd/journald.c \

HAYATE_HOOKS = \
	common/localtime-hook.c \
	common/machine-hook.c \
	common/optline-hook.c \
	common/peer-hook.c \
	common/blocksum-hook.c \
	channels/bulk-hook.c \
	channels/gather-hook.c \
	channels/shmpipe-hook.c \
	channels/external-hook.c \
	channels/sshbuf-hook.c \
	channels/tcpopt-hook.c \
	channels/stalls-hook.c \
	channels/wtune-hook.c \
	cipher/authonly-hook.c \
	cipher/authonly-proposal-hook.c \
	cipher/direction-hook.c \
	cipher/kexguess-hook.c \
	cipher/keypair-hook.c \
	cipher/macspeed-hook.c \
	cipher/segments-hook.c \
	cipher/pipeline-hook.c \
	cipher/poly1305-hook.c \
	cipher/receiving-hook.c \
	cipher/sealer-hook.c \
	cipher/sending-hook.c \
	cipher/zlib-hook.c \
	transfer/asks-hook.c \
	transfer/check-hook.c \
	transfer/close-hook.c \
	transfer/copy-hook.c \
	transfer/cross-hook.c \
	transfer/file-hook.c \
	transfer/from-hook.c \
	transfer/get-hook.c \
	transfer/hidden-hook.c \
	transfer/hosts-hook.c \
	transfer/journal-hook.c \
	transfer/landing-hook.c \
	transfer/link-hook.c \
	transfer/links-hook.c \
	transfer/list-hook.c \
	transfer/longopt-hook.c \
	transfer/lost-hook.c \
	transfer/names-hook.c \
	transfer/opening-hook.c \
	transfer/outcome-hook.c \
	transfer/proof-hook.c \
	transfer/put-hook.c \
	transfer/report-hook.c \
	transfer/server-hook.c \
	transfer/show-hook.c \
	transfer/signals-hook.c \
	transfer/sparse-hook.c \
	transfer/stock-hook.c \
	transfer/verdict-hook.c \
	transfer/where-hook.c \
	transfer/sums-hook.c \
	ssh/address-hook.c \
	ssh/asked-hook.c \
	ssh/authonly-client-hook.c \
	ssh/authonly-mux-hook.c \
	ssh/cleanup-hook.c \
	ssh/cliopt-hook.c \
	ssh/early-hook.c \
	ssh/early-input-hook.c \
	ssh/early-session-hook.c \
	ssh/further-hook.c \
	ssh/gcm-hook.c \
	ssh/guess-hook.c \
	ssh/known-hook.c \
	ssh/limit-hook.c \
	ssh/login-hook.c \
	ssh/recall-hook.c \
	ssh/reread-hook.c \
	ssh/ruser-hook.c \
	ssh/serve-hook.c \
	sshd/authonly-server-hook.c \
	sshd/crypt-hook.c \
	sshd/stall-stats-hook.c \
	sshd/iotime-hook.c \
	sshd/gss-hook.c \
	sshd/monitor-hook.c \
	sshd/msgname-hook.c \
	sshd/restrict-hook.c \
	sshd/lifecycle-hook.c \
	sshd/sessionlog-hook.c \
	sshd/checkfile-hook.c \
	sshd/sftpsrv-hook.c \
	sshd/srvopt-hook.c \
	sshd/subsys-hook.c \

# Core headers that a patch includes directly: constants and inline functions.

HAYATE_DIRECT = authonly.h cipher-seek.h

# Files of upstream that one of ours takes the place of, in libssh.a.

HAYATE_REPLACED = cleanup.c sshbuf.c

