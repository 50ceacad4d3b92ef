# bash completion of gridplan
_gridplan()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    local quotas=' --rate-per-s --burst-count --cpu-s-per-hour --concurrent-count --memory-bytes --time-limit-max-s --weight' settings=' --admin-bind --admin-port --allowed-hosts --auth --auto-models --auto-models-max --bind --body-bytes-per-s --body-memory-ratio --body-timeout-s --compute-queue-length --compute-threads --compute-workers --connections-per-address --cors-origins --cws-mount --database --db-pool-size --db-prepared-statements --db-statement-timeout-s --db-wait-s --docs --facades --fair-quantum-s --frame-ancestors --header-timeout-s --idempotency-lease-s --io-threads --k8s-snapshot-id --keepalive-timeout-s --load-partition --log-level --max-body-bytes --max-connections --max-upload-bytes --memory-bytes --metrics-names --partitions-ahead-months --port --public-url --query-queue-length --query-workers --queue-wait-s --rate-burst-count --rate-limit-per-s --readiness-without-database --request-memory-bytes --retention-checkpoint-logs-days --retention-claim-attempts-days --retention-decisions-days --retention-executions-days --retention-failures-days --retention-load-rollup-3600-days --retention-load-rollup-60-days --retention-load-rollup-86400-days --retention-load-samples-days --retention-progress-samples-days --retention-reschedule-events-days --retention-simulations-days --retention-site-errors-days --retention-transfers-days --retention-workflow-sessions-days --rollups --shutdown-grace-s --simulation-jobs-max --simulation-lease-s --simulation-resources-max --simulation-time-limit-s --simulations-at-once --tenant-memory-ratio --tenant-queue-length --time-limit-max-s --total-body-bytes --trusted-proxies --ui --unix-socket --unknown-keys-per-address-per-s --workflow-session-events --workflow-session-tasks --workflow-session-waits --workflow-sessions'
    case $before in
    --endpoint) COMPREPLY=($(compgen -W 'checkpoint-intervals claims coallocations coallocations/acquire-plans coallocations/advice coallocations/flow-steps coallocations/launch-plans coallocations/replication-advice coallocations/reservation-plans coallocations/transfer-estimates evaluations experiment-plans fault-tolerance-plans model-fits parallel-schedules placements predictions queue-orders queue-scans replica-counts reschedules rescheduling-plans resource-sizings selections simulations workflow-schedules' -- "$word")); return ;;
    --color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")); return ;;
    --compare) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --breaks) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --decision) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --from) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --key-file) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --mode) COMPREPLY=($(compgen -W 'nice' -- "$word")); return ;;
    --out) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --render) COMPREPLY=($(compgen -W 'slurmrestd sbatch' -- "$word")); return ;;
    --save) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --scopes) COMPREPLY=($(compgen -W 'decide ingest admin facade read' -- "$word")); return ;;
    --unix) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --auth) COMPREPLY=($(compgen -W 'auto on off' -- "$word")); return ;;
    --auto-models) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --db-prepared-statements) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --docs) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --load-partition) COMPREPLY=($(compgen -W 'month day' -- "$word")); return ;;
    --log-level) COMPREPLY=($(compgen -W 'debug info warning error' -- "$word")); return ;;
    --metrics-names) COMPREPLY=($(compgen -W 'new both' -- "$word")); return ;;
    --readiness-without-database) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    --rollups) COMPREPLY=($(compgen -W 'auto on off' -- "$word")); return ;;
    --ui) COMPREPLY=($(compgen -W 'true false' -- "$word")); return ;;
    esac
    local flags=--help
    case $command in
    serve) flags+=' --check-config'$settings ;;
    migrate) flags+=' '$settings ;;
    key) flags+=' --tenant --scopes --expires-days --label'$quotas$settings ;;
    tenant) flags+=' '$quotas$settings ;;
    health) flags+=' --url --unix --ready' ;;
    ask) flags+=' --endpoint --url --key-file --profile --set --json --svg --table --gantt --width --color --save --strict' ;;
    explain) flags+=' --endpoint --url --key-file --profile' ;;
    errors) flags+=' ' ;;
    algorithms) flags+=' ' ;;
    docs) flags+=' --out' ;;
    man) flags+=' ' ;;
    completion) flags+=' ' ;;
    openapi) flags+=' --compare --breaks' ;;
    simulate) flags+=' --expand' ;;
    slurm) flags+=' --from --out --user --job --policy --add-nodes --set --decision --mode --render --url --timeout --since --key-file --anonymise --json --yes' ;;
    help) ;;
    *) flags+=" --version --check-config$settings" ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$word"))
        return
    fi
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W 'help serve migrate key tenant health ask explain errors algorithms docs man completion openapi simulate slurm' -- "$word"))
        return
    fi
    case $command in
    help) COMPREPLY=($(compgen -W 'help serve migrate key tenant health ask explain errors algorithms docs man completion openapi simulate slurm' -- "$word")) ;;
    serve) COMPREPLY=($(compgen -W '' -- "$word")) ;;
    migrate) COMPREPLY=($(compgen -W '' -- "$word")) ;;
    key) COMPREPLY=($(compgen -W 'create list revoke set' -- "$word")) ;;
    tenant) COMPREPLY=($(compgen -W 'set show' -- "$word")) ;;
    health) COMPREPLY=($(compgen -W '' -- "$word")) ;;
    errors) COMPREPLY=($(compgen -W "$(gridplan errors 2>/dev/null | sed 's/ .*//')" -- "$word")) ;;
    algorithms) COMPREPLY=($(compgen -W "$(gridplan algorithms 2>/dev/null | sed 's/ .*//')" -- "$word")) ;;
    docs) COMPREPLY=($(compgen -W 'which glossary start questions engines operation settings metrics cli changes licences' -- "$word")) ;;
    man) COMPREPLY=($(compgen -W 'gridplan.1 gridplan-ask.1 gridplan-client.conf.5 default' -- "$word")) ;;
    completion) COMPREPLY=($(compgen -W 'bash zsh' -- "$word")) ;;
    openapi) COMPREPLY=($(compgen -W '' -- "$word")) ;;
    slurm) COMPREPLY=($(compgen -W 'snapshot advise what-if apply ingest' -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _gridplan gridplan
