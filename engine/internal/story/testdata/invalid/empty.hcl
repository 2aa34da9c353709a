suite "s" {} # ERROR: no hosts: The suite has nothing to run on. ;; # ERROR: no stories
