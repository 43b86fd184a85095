# PgBouncer of Debian. compose.yaml mounts its settings and its list of users.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends pgbouncer=1.18.* \
    && rm -rf /var/lib/apt/lists/*
USER 65534
EXPOSE 6432
CMD ["pgbouncer", "/etc/pgbouncer/pgbouncer.ini"]
