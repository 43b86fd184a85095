#!/bin/sh
# Deletes old backups once somebody has agreed. In a crontab:
#
#     0 18 * * 1-5  REVIEW_LOOP_URL=… REVIEW_LOOP_KEY=… flock -n /tmp/cleanup /opt/jobs/cleanup.sh
#
# The question has the name of the day, and its list is in a file: if the machine restarts while the
# script waits, start it again (@reboot), and it finds its question. Nobody is asked twice.
set -eu

BACKUPS=${BACKUPS:-/var/backups}
DAYS=${DAYS:-30}
SHOWN=20

today=$(date +%F)
list=$BACKUPS/.cleanup-$today
[ -e "$list" ] || find "$BACKUPS" -name '*.tar.gz' -mtime "+$DAYS" | sort >"$list"
count=$(wc -l <"$list")
[ "$count" -gt 0 ] || exit 0

status=0
answer=$(reviewloop ask "**Delete $count backups?** They are older than $DAYS days. The first are:

$(head -n $SHOWN "$list" | sed 's,.*/,    ,' | cut -c 1-84)" \
    --options delete,keep --default keep --timeout 12h \
    --resume "cleanup of $(uname -n) on $today") || status=$?

case $status in
0) echo "A person said: $answer" ;;
3) echo "Nobody answered, so: $answer" ;;
4) echo "The question was cancelled" && exit 0 ;;
*) exit "$status" ;;
esac

if [ "$answer" = delete ]; then
    xargs -d '\n' rm -f -- <"$list"
fi
