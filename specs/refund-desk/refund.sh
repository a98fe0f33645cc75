# Usage: refund.sh ORDER AMOUNT REASON SECONDS. The ledger replaces a bank: one line per refund.
# SECONDS is how long the bank takes to confirm a completed refund.
set -eu
printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> ledger.tsv
sleep "$4"
echo "refunded $2 EUR for order $1"
