# PostgreSQL with Patroni and etcd, for the cluster of compose-cluster.yaml.

FROM postgres:18.4-bookworm
RUN apt-get update \
  && apt-get install --yes --no-install-recommends patroni python3-etcd etcd-server \
  && rm -rf /var/lib/apt/lists/*
COPY deploy/patroni.yml /etc/patroni.yml
ENV PATRONI_POSTGRESQL_BIN_DIR=/usr/lib/postgresql/18/bin
ENV PATRONI_POSTGRESQL_DATA_DIR=/var/lib/postgresql/cluster
USER postgres
ENTRYPOINT []
CMD ["patroni", "/etc/patroni.yml"]
