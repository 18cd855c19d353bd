# frozen_string_literal: true

# While the image is baked the forge's clock stands at 2026-10-01 09:00 UTC, so that each bake writes the same.
# In a running container the supervisor gives its services a clock that begins there and runs.
module ForgeClock
  NOW = Time.utc(2026, 10, 1, 9).freeze

  module OfTime
    def now(in: nil)
      zone = binding.local_variable_get(:in)
      zone ? NOW.getlocal(zone) : NOW.getlocal
    end
  end

  module OfDate
    def today(_start = Date::ITALY)
      new(NOW.year, NOW.month, NOW.day)
    end
  end

  module OfDateTime
    def now(_start = Date::ITALY)
      NOW.to_datetime
    end
  end
end

unless ENV.key?('ARENA_CLOCK')
  Time.singleton_class.prepend(ForgeClock::OfTime)
  Date.singleton_class.prepend(ForgeClock::OfDate)
  DateTime.singleton_class.prepend(ForgeClock::OfDateTime)
end
