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
	transfer/concurrency.c \
	transfer/conn-count.c \
	transfer/conn-sched.c \
	transfer/early-requests.c \
	transfer/extents.c \
	transfer/failover.c \
	transfer/json.c \
	transfer/lines.c \
	transfer/longopt.c \
	transfer/lookup-queue.c \
	transfer/multihost.c \
	transfer/op-table.c \
	transfer/progress-text.c \
	transfer/rendezvous.c \
	transfer/request-window.c \
	transfer/sched-replies.c \
	transfer/scheduler.c \
	transfer/sequence.c \
	transfer/slow-conn.c \
	transfer/stale-temp.c \
	transfer/stripe.c \
	transfer/tempfile.c \
	transfer/tempfile-sched.c \
	transfer/verify.c \
	transfer/verify-fsm.c \
	transfer/verify-sched.c \
	transfer/walk.c \
	ssh/early-servers.c \
	ssh/login-cache.c \
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
	transfer/arguments-hook.c \
	transfer/block-hash-hook.c \
	transfer/bottleneck-hook.c \
	transfer/close-hook.c \
	transfer/conns-hook.c \
	transfer/cross-hook.c \
	transfer/deferred-signals-hook.c \
	transfer/early-requests-hook.c \
	transfer/exit-status-hook.c \
	transfer/file-hook.c \
	transfer/files-from-hook.c \
	transfer/fs-identity-hook.c \
	transfer/fs-location-hook.c \
	transfer/get-hook.c \
	transfer/inspect-hook.c \
	transfer/hosts-hook.c \
	transfer/journal-hook.c \
	transfer/longopt-hook.c \
	transfer/progress-hook.c \
	transfer/put-hook.c \
	transfer/remote-glob-hook.c \
	transfer/report-hook.c \
	transfer/results-hook.c \
	transfer/server-hook.c \
	transfer/sftp-request-hook.c \
	transfer/sftp-stream-hook.c \
	transfer/sparse-hook.c \
	transfer/stock-hook.c \
	transfer/temp-name-hook.c \
	transfer/tempfile-hook.c \
	transfer/transfer-hook.c \
	transfer/verify-requests-hook.c \
	transfer/verify-run-hook.c \
	ssh/authonly-client-hook.c \
	ssh/authonly-mux-hook.c \
	ssh/bottleneck-ssh-hook.c \
	ssh/cleanup-hook.c \
	ssh/cliopt-hook.c \
	ssh/early-auth-hook.c \
	ssh/early-requests-ssh-hook.c \
	ssh/early-session-hook.c \
	ssh/extra-conn-hook.c \
	ssh/extra-sessions-hook.c \
	ssh/gcm-hook.c \
	ssh/guess-hook.c \
	ssh/known-hosts-hook.c \
	ssh/login-cache-hook.c \
	ssh/prompted-hook.c \
	ssh/reread-hook.c \
	ssh/resolve-all-hook.c \
	ssh/ruser-hook.c \
	ssh/spawn-hook.c \
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

